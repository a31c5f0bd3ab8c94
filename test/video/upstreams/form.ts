import type { IncomingMessage } from 'node:http'
import type { Loose } from './upstream.ts'

export interface Form {
  readonly body: Loose
  readonly files: readonly {
    readonly field: string
    readonly name: string
    readonly mediaType: string
    readonly bytes: Buffer
  }[]
}

/**
 * Reads the JSON body or the form of a request. An empty body is an empty object. Rejects if the request ends early.
 */
export async function readForm(message: IncomingMessage): Promise<Form> {
  const pieces: Buffer[] = []
  for await (const piece of message) pieces.push(piece as Buffer)
  const bytes = Buffer.concat(pieces)
  const type = message.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) return { body: jsonOf(bytes), files: [] }
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
  const body: Loose = {}
  const files: Form['files'][number][] = []
  for (const [field, value] of form.entries()) {
    if (typeof value === 'string') body[field] = value
    else files.push({ field, name: value.name, mediaType: value.type, bytes: Buffer.from(await value.arrayBuffer()) })
  }
  return { body, files }
}

function jsonOf(bytes: Buffer): Loose {
  try {
    return bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
