# The image of tollgate. It runs one process with the roles that its arguments name:
#   docker build -t tollgate .
#   docker run --read-only --tmpfs /tmp -p 3000:3000 -v ./tollgate.yaml:/etc/tollgate/tollgate.yaml:ro tollgate --role data,indexer
# In the configuration, listeners other than the operator's are on 0.0.0.0, and files lie below /var/lib/tollgate.
#
# Tried: the steps by hand on Debian 12 with Node 24.21.0, npm as an unprivileged user in an empty folder, the program as
# that user on a read-only mount, with the health check and SIGTERM (it ended with 0); dockerfilelint 1.8.0, which knows no
# --start-period and objects to nothing else.
# Not tried: `docker build` and `docker run`, since no container engine ran where this was written.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /opt/tollgate
COPY package.json package-lock.json ./
# Without what is optional: the embedded chains and a Node of their own.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /opt/tollgate
COPY --from=packages /opt/tollgate/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
COPY generated ./generated
# Compiled code is kept in the image: nothing can be written beside the sources of a running container.
RUN node src/main.ts --help > /dev/null \
  && install -d -o node -g node -m 0750 /var/lib/tollgate
USER node
VOLUME /var/lib/tollgate
EXPOSE 3000 3001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3002/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/main.ts", "--config", "/etc/tollgate/tollgate.yaml"]
