import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/*
 * Chat templates of Mistral, Gemma and others refuse turns of the user in a row: "conversation roles must alternate user
 * and assistant roles" (crush#279, mini-swe-agent#759, vllm#6862, adk-python#1373, read on 2026-12-01). Codex and Claude
 * Code send such turns in every request. The flag `chat_templates` declares servers that run templates
 * (formats/template-families.ts).
 */

/** Returns true if two messages of a body are turns of the user in a row. */
export const hasTurnsInARow = (messages: readonly Json[]): boolean =>
  messages.some((message, index) => index > 0 && isOfUser(message) && isOfUser(messages[index - 1]!))

const isOfUser = (message: Json): message is JsonObject => isObject(message) && message['role'] === 'user'

/** Joins the user's turns in a row, which have a role and a content only. */
export function withJoinedTurns(messages: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last === undefined || !isOfUser(last) || !isOfUser(message)) joined.push(message)
    else joined[joined.length - 1] = { role: 'user', content: [...partsOf(last), ...partsOf(message)] }
  }
  return joined
}

function partsOf({ content }: JsonObject): readonly Json[] {
  return Array.isArray(content) ? content : [{ type: 'text', text: content! }]
}
