/** Headers whose values are never secret, because clients use them to describe themselves and the request. */
export const HARMLESS_HEADERS =
  /^(accept(-.+)?|content-(type|length|encoding|language)|user-agent|host|connection|cache-control|transfer-encoding|date|server|vary|via|etag|age|x-stainless-.+|anthropic-(version|beta|dangerous-direct-browser-access|ratelimit-.+)|x-ratelimit-.+|retry-after(-ms)?|openai-(beta|version|processing-ms|model)|x-goog-api-client|interlingua-.+|x-title|x-app|originator|version|traceparent|(x-)?request-id|x-client-request-id|x-should-retry|sec-fetch-.+|sec-ch-ua.*|sec-websocket-version|upgrade|x-fern-.+|x-accel-buffering|x-content-type-options|strict-transport-security|server-timing|msgfmt-version)$/
/** Query parameters whose values are never secret. */
export const HARMLESS_PARAMETERS =
  /^(alt|beta|api-version|model|stream|language|detect_language|punctuate|smart_format|variant)$/
