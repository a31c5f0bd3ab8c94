const MILLISECONDS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/

/** `500ms`, `5s`, `2m`, `1h` or `30d` in milliseconds; undefined for any other text. */
export function milliseconds(text: string): number | undefined {
  const match = DURATION.exec(text.trim())
  return match === null ? undefined : Math.round(Number(match[1]) * MILLISECONDS[match[2]!]!)
}

const BYTES: { readonly [unit: string]: number } = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}
const SIZE = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/

/** `32MiB`, `500KB` or `1024` in bytes; undefined for any other text. */
export function bytes(text: string): number | undefined {
  const match = SIZE.exec(text.trim().toLowerCase())
  const unit = match === null ? undefined : BYTES[match[2] === '' ? 'b' : match[2]!]
  return unit === undefined ? undefined : Math.round(Number(match![1]) * unit)
}
