/* Texts that are too long for the files of a scenario. */

/** Long texts, by the name of their placeholder `${name}`: the repeated text, and the total size in bytes. */
export interface Texts {
  readonly [name: string]: { readonly of: string; readonly bytes: number }
}

/** Repeats a text up to a size in bytes. Characters are never split. */
function longText({ of, bytes }: Texts[string]): string {
  const repeated = of.repeat(Math.ceil(bytes / Buffer.byteLength(of)))
  return Buffer.from(repeated)
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
}

/** Fills in the placeholders of long texts in JSON bytes or in events with JSON. */
export function withLongTexts(bytes: Buffer, texts: Texts): Buffer {
  const names = Object.keys(texts)
  if (names.length === 0) return bytes
  const filled = names.reduce(
    (text, name) => text.replaceAll(`\${${name}}`, () => JSON.stringify(longText(texts[name]!)).slice(1, -1)),
    bytes.toString('utf8'),
  )
  return Buffer.from(filled)
}
