/* Detects the file formats of media by their first bytes. */

type SignatureTest = (bytes: Buffer) => boolean

const startsWith =
  (text: string, at = 0): SignatureTest =>
  bytes =>
    bytes.toString('latin1', at, at + text.length) === text

/** Signatures of file formats. Sources: the formats' own specifications; https://mimesniff.spec.whatwg.org. */
const SIGNATURES: { readonly [container: string]: SignatureTest } = {
  png: startsWith('\u0089PNG\r\n\u001a\n'),
  jpeg: startsWith('\u00ff\u00d8\u00ff'),
  webp: bytes => startsWith('RIFF')(bytes) && startsWith('WEBP', 8)(bytes),
  gif: startsWith('GIF8'),
  wav: bytes => startsWith('RIFF')(bytes) && startsWith('WAVE', 8)(bytes),
  flac: startsWith('fLaC'),
  opus: startsWith('OggS'),
  mp4: startsWith('ftyp', 4),
  webm: startsWith('\u001aE\u00df\u00a3'),
  // ADTS frames of AAC and frames of MP3 differ in the layer bits, which are 0 for AAC.
  aac: ([first = 0, second = 0]) => first === 0xff && (second & 0xf6) === 0xf0,
  mp3: bytes =>
    startsWith('ID3')(bytes) || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0 && (bytes[1]! & 0x06) !== 0),
}

/** Detects the file format by the first bytes. Returns undefined if they match no signature, as for raw samples. */
export const containerOf = (bytes: Buffer): string | undefined =>
  Object.entries(SIGNATURES).find(([, sign]) => sign(bytes))?.[0]

/** File formats by content type. Types without an entry have no signature. */
const CONTAINERS_BY_TYPE: { readonly [type: string]: string } = {
  ...{ 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/jpg': 'jpeg', 'image/webp': 'webp', 'image/gif': 'gif' },
  ...{ 'audio/mpeg': 'mp3', 'audio/mp3': 'mp3', 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/wave': 'wav' },
  ...{ 'audio/flac': 'flac', 'audio/x-flac': 'flac', 'audio/ogg': 'opus', 'audio/opus': 'opus', 'audio/aac': 'aac' },
  ...{ 'video/mp4': 'mp4', 'audio/webm': 'webm', 'video/webm': 'webm' },
}

/** Describes how bytes contradict their content type. Returns undefined if they match or the type has no signature. */
export function typeFault(type: string, bytes: Buffer): string | undefined {
  const expected = CONTAINERS_BY_TYPE[type.split(';')[0]!.trim().toLowerCase()]
  const found = containerOf(bytes)
  return expected === undefined || expected === found ? undefined : `${type} begins as ${found ?? 'no known file'}.`
}
