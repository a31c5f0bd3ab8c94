import type { Format, JsonObject } from '../canonical/node.ts'

/*
 * What the chat templates of models demand on servers that run them as they are (the flag `chat_templates`). Native
 * callers do not know the template of a local model, so that the flags apply to them, too.
 */

/**
 * Templates of Mistral: "After the optional system message, conversation roles must alternate user and assistant roles
 * except for tool calls and results", and "Tool call IDs should be alphanumeric strings with length 9!"
 * (`models/templates` of llama.cpp in llama-cpp-python 0.3.36; mini-swe-agent#759, eclipse-peon-ai#75, read on
 * 2026-12-01).
 */
const MISTRAL = /mi(?:s|x|nis)tral|magistral|devstral|codestral|pixtral/

/** Returns the flags that a model's template demands of requests, or undefined if none are known. */
export const templateDialect = (format: Format, model: string, channel: JsonObject): JsonObject | undefined =>
  format === 'chat' && channel['chat_templates'] === true && MISTRAL.test(model.toLowerCase())
    ? { after_tools: 'assistant', call_ids: 'short' }
    : undefined
