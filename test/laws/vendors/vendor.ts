import type { Format, JsonObject } from '../../../src/canonical/node.ts'

/*
 * What vendors refuse, written by hand from their pages, SDKs and public errors. Rows use no code of the gateway and read
 * none of its tables.
 */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
export type Loose = any

/** One rule of a vendor: a request that breaks it fails with 400 or 422. */
export interface Refusal {
  /** The error, or the rule in a few words. */
  readonly error: string
  /** The page, issue or SDK that states it, with the day on which it was read. */
  readonly source: string
  /** Returns true if the vendor refuses the body for this rule. */
  readonly refuses: (body: Loose, model: string) => boolean
  /** A body that breaks the rule, as clients of the format write it. */
  readonly example: JsonObject
  /** True if clients of the vendor's own format send such bodies without choosing to, so that they are mended, too. */
  readonly native?: true
}

/** A preset's upstream in one format. */
export interface StrictVendor {
  readonly preset: string
  /** The address of a vendor without a preset, which channels with `provider: custom` have. */
  readonly baseUrl?: string
  readonly format: Format
  /** Models as the vendor names them: one of each kind that it treats differently. */
  readonly models: readonly string[]
  readonly refusals: readonly Refusal[]
}

export const hi: JsonObject = { messages: [{ role: 'user', content: 'hi' }] }

/** Rule of a field that the vendor does not take at the top of a request, whatever its value. */
export const noField = (field: string, value: Loose, source: string): Refusal => ({
  error: `${field} is not supported`,
  source,
  refuses: body => body[field] !== undefined,
  example: { ...hi, [field]: value },
  native: true,
})

/** Rule of turns of the assistant that may not have `reasoning_content`, which many agents return. */
export const noReasoningContent = (error: string, source: string): Refusal => ({
  ...{ error, source },
  refuses: body => body.messages.some((message: object) => 'reasoning_content' in message),
  example: {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hi', reasoning_content: 'a' },
      { role: 'user', content: 'hi' },
    ],
  },
  native: true,
})

const user: JsonObject = { role: 'user', content: 'hi' }

export function isJsonObject(text: string): boolean {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Rule of servers that parse the arguments of earlier calls, and refuse those of a call that was cut. */
export const noOddArguments = (error: string, source: string): Refusal => ({
  ...{ error, source },
  refuses: body =>
    body.messages.some(({ tool_calls: calls }: Loose) =>
      calls?.some((call: Loose) => call.function && !isJsonObject(call.function.arguments)),
    ),
  example: {
    messages: [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a": "b' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'cut' },
    ],
  },
  native: true,
})

const hasUrl = (value: Loose): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (isAddress(value.image_url?.url ?? value.image_url) ||
    (value.type === 'image' && isAddress(value.source?.url)) ||
    Object.values(value).some(hasUrl))

const isAddress = (value: Loose): boolean => typeof value === 'string' && /^https?:/i.test(value)

/** Rule of images, which the vendor takes as bytes only. */
export const noImageUrls = (error: string, source: string, example: JsonObject): Refusal => ({
  ...{ error, source, example },
  refuses: ({ messages = [], input = [] }) => hasUrl(messages) || hasUrl(input),
  native: true,
})
