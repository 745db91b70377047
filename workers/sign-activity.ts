/**
 * The activity `sign` of workflows: an ordinary transaction of the application.
 *
 * The id of the transaction follows from the run of the activity, so a second try joins the first.
 * The job holds the token of the activity, and the worker of the signature answers with it before
 * the job ends (`createTellSigned`). A job may also end without a turn. So the activity is tried
 * again after the deadline, and finds the end.
 *
 * When the chart leaves the state, the transaction is cancelled. A try in another process may come
 * later than that, so `withdraw` leaves a note first, and `sign` looks for it after it has added.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Activity, type ActivityArguments, activity, type InstanceInHand, later } from '../src/engine/define.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { InstanceEnd } from '../src/engine/turn.ts';
import { type Fault, fault, faultTable, parseFaultLine } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import { writeSignRequest } from '../src/protocol/write-request.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import { type ApplicationProviders } from '../src/registry/application-providers.ts';
import type { RateLimit, RateLimiter } from '../src/registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
