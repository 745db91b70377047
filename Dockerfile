# One image for `paraph api`, `paraph worker` and every other command of the CLI. Redis is somebody else's container.
FROM node:24-slim AS build
WORKDIR /paraph
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY packages ./packages
COPY machines ./machines
COPY workers ./workers
COPY parts ./parts
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
# The program's own default, 127.0.0.1, could not be reached from outside the container.
ENV NODE_ENV=production HOST=0.0.0.0 PARAPH_DATA=/data
WORKDIR /paraph
COPY --from=build /paraph/package.json ./
COPY --from=build /paraph/node_modules ./node_modules
COPY --from=build /paraph/dist ./dist
# Holds a note that the master key has been used, where a volume keeps it. Without one the note is gone with the container.
RUN install -d -o node -g node /data
# An unprivileged user that the base image brings; nothing in /paraph is writable for it.
USER node
EXPOSE 8080
# By Node, because the image has no curl.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/src/cli/paraph.js"]
CMD ["api"]
