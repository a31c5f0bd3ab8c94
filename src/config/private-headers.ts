/**
 * Caller headers that no config can pass on: they carry credentials, belong to one connection, or describe the exchange
 * with the upstream.
 */
export const NEVER_PASSED_ON: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'xi-api-key', 'cookie'],
  ...[
    'host',
    'connection',
    'proxy-connection',
    'keep-alive',
    'upgrade',
    'te',
    'trailer',
    'transfer-encoding',
    'expect',
  ],
  ...['content-length', 'content-type', 'content-encoding', 'accept', 'accept-encoding', 'user-agent'],
])
