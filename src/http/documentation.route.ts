import { Hono } from 'hono';

export const createDocumentationRoutes = (): Hono => new Hono();
