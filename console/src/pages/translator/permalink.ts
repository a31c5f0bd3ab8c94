/** Contents of a link. */
export interface Linked {
  readonly text: string
  readonly format?: string
  readonly kind?: string
}

const PREFIX = '#1.'
/** Maximum size of a decompressed link, in bytes: the limit of a translation plus room for the other fields. */
const LARGEST = 256 * 1024 + 1000

/** Encodes a text as a URL fragment: deflated JSON in base64url. Browsers do not send fragments to servers. */
export async function fragmentOf(linked: Linked): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(linked)), new CompressionStream('deflate-raw'))
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return PREFIX + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/u, '')
}

/** Decodes a URL fragment. Undefined for another kind of fragment, a damaged one, or one that is too large. */
export async function linkedOf(fragment: string): Promise<Linked | undefined> {
  if (!fragment.startsWith(PREFIX)) return undefined
  try {
    const packed = atob(fragment.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(packed, one => one.charCodeAt(0))
    const json = new TextDecoder('utf-8', { fatal: true }).decode(
      await through(bytes, new DecompressionStream('deflate-raw')),
    )
    const { text, format, kind } = JSON.parse(json) as Partial<Linked>
    if (typeof text !== 'string') return undefined
    return { text, ...(typeof format === 'string' ? { format } : {}), ...(typeof kind === 'string' ? { kind } : {}) }
  } catch {
    return undefined
  }
}

/** Pipes bytes through a compression stream. Rejects on a stream error, or on more than `LARGEST` bytes. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = new Blob([bytes]).stream().pipeThrough<Uint8Array>(stream).getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length
    if (size > LARGEST * 2) {
      await reader.cancel()
      throw new RangeError('too large')
    }
    pieces.push(next.value)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
