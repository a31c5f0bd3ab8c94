/** Headers whose values are never secret, because clients use them to describe themselves and the request. */
export const HARMLESS_HEADERS =
  /^(accept(-.+)?|content-(type|length|encoding|language)|user-agent|host|connection|cache-control|transfer-encoding|date|server|vary|via|etag|age|x-stainless-.+|anthropic-(version|beta|dangerous-direct-browser-access|ratelimit-.+)|x-ratelimit-.+|retry-after(-ms)?|openai-(beta|version|processing-ms|model)|x-goog-api-client|interlingua-.+|x-title|x-app|originator|version|traceparent|(x-)?request-id|x-client-request-id|x-should-retry|sec-fetch-.+|sec-ch-ua.*|sec-websocket-version|upgrade|x-fern-.+|x-accel-buffering|x-content-type-options|strict-transport-security|server-timing|msgfmt-version)$/
/** Query parameters whose values are never secret, and which every version recorded. */
const FIRST_PARAMETERS = /^(alt|beta|api-version|model|stream|language|detect_language|punctuate|smart_format|variant)$/
/** Query parameters of lists and of speech services. Their values are never secret. */
const OPTIONS =
  /^(after|after_id|before|before_id|cursor|limit|offset|order|page|page_?(size|token)|sort|starting_after|encoding|sample_rate|container|bit_rate|output_format|optimize_streaming_latency|enable_logging|channels|diarize(_model)?|multichannel|paragraphs|utterances|utt_split|utterance_end_ms|interim_results|endpointing|vad_events|filler_words|numerals|dictation|measurements|profanity_filter|detect_entities|intents|sentiment|summarize|topics|tier|version)$/i

/** Returns true for a query parameter whose values are never secret. */
export const isHarmlessParameter = (name: string): boolean => FIRST_PARAMETERS.test(name) || isOption(name)

/** Returns true for a parameter of lists and of speech services. Recordings of earlier versions lack them. */
export const isOption = (name: string): boolean => OPTIONS.test(name)
