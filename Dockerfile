# The gateway and its console as a small image: no shell, no package manager, no root.
#
#   docker build -t interlingua .
#   docker run -p 4747:4747 -v interlingua:/var/lib/interlingua -e OPENAI_API_KEY interlingua

FROM node:26-trixie-slim AS build
WORKDIR /source
# Everything at once, because the installation builds the bundle and the console. The optional libraries that sign in at
# clouds (`aws-default`, `azure-default`, `google-default`) cannot be added to the image later: it has no npm.
COPY . .
RUN npm ci --no-audit --no-fund \
 && npm run package -- /tmp \
 && mkdir /app \
 && cd /app \
 && npm install --omit=dev --omit=optional --no-audit --no-fund /tmp/interlingua-*.tgz \
      @aws-sdk/credential-provider-node@3.972.99 @azure/identity@4.14.1 google-auth-library@10.9.1 \
 && mkdir -p /data
# Libraries of Node that the last stage lacks.
RUN mkdir /libraries \
 && for library in $(ldd /usr/local/bin/node | awk '/libatomic/ { print $3 }'); do cp -L "$library" /libraries/; done

# A start under the user and with the options of the last stage, whose compiled code the image keeps. Otherwise each start
# would compile everything, because that user cannot write the cache.
RUN cache=/app/node_modules/interlingua/node_modules/.cache \
 && mkdir -p $cache \
 && chown 65532:65532 $cache \
 && setpriv --reuid=65532 --regid=65532 --clear-groups env HOME=/tmp \
    node --max-semi-space-size=16 --no-allocation-site-pretenuring /app/node_modules/interlingua/bin/warm-up.js \
 && chmod -R a+rX $cache

FROM gcr.io/distroless/cc-debian13:nonroot
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /libraries/ /usr/lib/
COPY --from=build --chown=root:root /app/node_modules /app/node_modules
COPY --from=build --chown=nonroot:nonroot /data /var/lib/interlingua
# The config is interlingua.yaml in this folder; without it, the channels are those of the environment.
WORKDIR /var/lib/interlingua
VOLUME /var/lib/interlingua
USER nonroot
EXPOSE 4747
ENV NODE_ENV=production
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["/usr/local/bin/node", "--no-warnings", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; const at = scheme => fetch(scheme + '://127.0.0.1:4747/healthz'); at('http').catch(() => at('https')).then(a => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--no-allocation-site-pretenuring", "/app/node_modules/interlingua/bin/interlingua.js"]
CMD ["serve", "--host", "0.0.0.0"]
