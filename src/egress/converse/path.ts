const PLAIN = /^[\w.-]+$/

/** Returns the path of a model's operation. The model name may contain slashes and colons. */
export const pathOf = (model: string, operation: string): string =>
  `/model/${PLAIN.test(model) ? model : encodeURIComponent(model.toWellFormed())}/${operation}`

/** Matches an inference profile's geography prefix before the model id. */
const GEOGRAPHY = /^(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|global)\.(?=[a-z0-9-]+\.)/

/**
 * Returns a model's path for token counting. The operation requires the model id itself and refuses inference profiles
 * (docs/wire/converse.md#token-counting).
 */
export const countPathOf = (model: string): string => pathOf(withoutGeography(model), 'count-tokens')

/** Returns the id of the model behind an inference profile. */
export const withoutGeography = (model: string): string => model.replace(GEOGRAPHY, '')

/** Returns the operation for a streamed or unary answer. */
export const operationOf = (stream: boolean): string => (stream ? 'converse-stream' : 'converse')

/** Returns the `accept` header value for a stream. Unary answers are JSON and need none. */
export const acceptOf = (stream: boolean): { readonly accept?: string } =>
  stream ? { accept: 'application/vnd.amazon.eventstream' } : {}
