# Image of tollgate. It runs one process with the roles that its arguments name:
#   docker build -t tollgate .
#   docker run --read-only --tmpfs /tmp -p 3000:3000 -v ./tollgate.yaml:/etc/tollgate/tollgate.yaml:ro tollgate --role data,indexer
# In the configuration, listeners must be on 0.0.0.0 (except `admin`), and files below /var/lib/tollgate.
#
# Tested: the steps by hand on Debian 12 with Node 24.21.0. npm ran as an unprivileged user in an empty folder, and the
# program as the same user on a read-only mount, with the health check and SIGTERM (exit code 0). dockerfilelint 1.8.0
# reports only --start-period, which it does not know.
# Not tested: `docker build` and `docker run`, because no container engine was available.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /opt/tollgate
COPY package.json package-lock.json ./
# Without optional dependencies: the embedded chains, and Node as a package.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# Commit that the program reports: docker build --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=unknown
RUN npm pkg set "commit=$COMMIT"

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
# The allocator of glibc keeps freed memory for each thread; with few arenas, much less of it.
ENV MALLOC_ARENA_MAX=2
WORKDIR /opt/tollgate
COPY --from=packages /opt/tollgate/node_modules ./node_modules
COPY --from=packages /opt/tollgate/package.json ./
COPY LICENSE ./
COPY src ./src
COPY generated ./generated
RUN install -d -o node -g node -m 0750 /var/lib/tollgate node_modules/.cache/tollgate
USER node
# Fills the compile cache of the image, because a running container cannot write to its file system. Node reads only the
# code that the same user has compiled.
RUN for module in program/program data/service data/open-remote data/running-indexes \
    payments/service payments/settlement-workers payments/delivery-workers payments/listener; \
  do echo "import './src/$module.ts';"; done \
  | NODE_COMPILE_CACHE="$PWD/node_modules/.cache/tollgate" node --input-type=module -
VOLUME /var/lib/tollgate
EXPOSE 3000 3001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3002/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/main.ts", "--config", "/etc/tollgate/tollgate.yaml"]
