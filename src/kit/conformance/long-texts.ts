/* Texts that are too long to be written into the files of a scenario. */

/** Long texts by the name of their placeholder, `${name}`: what each repeats, and its size in bytes. */
export interface Texts {
  readonly [name: string]: { readonly of: string; readonly bytes: number }
}

/** A text that repeats another one up to a size, without a part of a character at its end. */
function longText({ of, bytes }: Texts[string]): string {
  const repeated = of.repeat(Math.ceil(bytes / Buffer.byteLength(of)))
  return Buffer.from(repeated)
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
}

/** Returns bytes of JSON, or of events with JSON, with the placeholders of long texts filled in. */
export function withLongTexts(bytes: Buffer, texts: Texts): Buffer {
  const names = Object.keys(texts)
  if (names.length === 0) return bytes
  const filled = names.reduce(
    (text, name) => text.replaceAll(`\${${name}}`, () => JSON.stringify(longText(texts[name]!)).slice(1, -1)),
    bytes.toString('utf8'),
  )
  return Buffer.from(filled)
}
