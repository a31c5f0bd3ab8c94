/** What a link holds. */
export interface Linked {
  readonly text: string
  readonly format?: string
  readonly kind?: string
}

const PREFIX = '#1.'
/** Bytes that a link may unfold to, as many as are translated. */
const LARGEST = 256 * 1024 + 1000

/** The fragment of an address, which browsers send nowhere: deflated JSON in base64url. */
export async function fragmentOf(linked: Linked): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(linked)), new CompressionStream('deflate-raw'))
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return PREFIX + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/u, '')
}

/** What a fragment holds; undefined for any other, for a broken one and for one that unfolds to too much. */
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

/** Rejects where the stream gives an error, or more than a link may hold. */
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
