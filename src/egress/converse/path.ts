const PLAIN = /^[\w.-]+$/

/** Returns the path of an operation of a model, whose name may contain slashes and colons. */
export const pathOf = (model: string, operation: string): string =>
  `/model/${PLAIN.test(model) ? model : encodeURIComponent(model.toWellFormed())}/${operation}`

/** Returns the operation that answers a request whole or as a stream. */
export const operationOf = (stream: boolean): string => (stream ? 'converse-stream' : 'converse')

/** The accepted content type of a stream. A whole answer is JSON, as usual. */
export const acceptOf = (stream: boolean): { readonly accept?: string } =>
  stream ? { accept: 'application/vnd.amazon.eventstream' } : {}
