import { DIALECT_FLAGS, describeValues } from '../src/formats/dialects/index.ts'

/** Returns one row per dialect flag: the formats that have it, its values and its meaning. */
export function dialectTable(): string {
  const rows = [...DIALECT_FLAGS].map(
    ([name, flag]) => `| \`${name}\` | ${flag.formats.join(', ')} | ${describeValues(flag)} | ${flag.meaning} |`,
  )
  return `| Flag | Formats | Values | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
