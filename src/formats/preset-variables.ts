import type { Preset, PresetFormat } from './preset.ts'

/** The values of a preset's variables, by name. */
export interface VariableValues {
  readonly [name: string]: string | undefined
}

/**
 * Returns Google Cloud's host for a region: `global`, a multi-region, or a single region (vertex-sdk 1.1, `client.ts`).
 */
function vertexHost(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  return region === 'us' || region === 'eu'
    ? `aiplatform.${region}.rep.googleapis.com`
    : `${region}-aiplatform.googleapis.com`
}

/** Returns the names in braces in a text. */
export const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\{([\w-]+)\}/g)].map(([, name]) => (name === 'vertex-host' ? 'region' : name!))

/**
 * Replaces the names in braces with their values. A name without a value becomes `missing`, with which the config is
 * refused.
 */
function filledText(text: string, values: VariableValues): string {
  const valueNamed = (name: string): string =>
    name === 'vertex-host' ? vertexHost(values['region'] ?? 'missing') : (values[name] ?? 'missing')
  return text.replace(/\{([\w-]+)\}/g, (_, name: string) => valueNamed(name))
}

const filledTexts = (texts: { readonly [name: string]: string }, values: VariableValues) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filledText(text, values)]))

/** Returns the preset with the values of its variables filled in to its addresses, headers and queries. */
export const withVariables = (preset: Preset, values: VariableValues): Preset => ({
  ...preset,
  formats: preset.formats.map(row => filledRow(row, values)),
})

const filledRow = (row: PresetFormat, values: VariableValues): PresetFormat => ({
  ...row,
  ...(row.baseUrl === undefined ? {} : { baseUrl: filledText(row.baseUrl, values) }),
  ...(row.below === undefined ? {} : { below: filledText(row.below, values) }),
  ...(row.headers === undefined ? {} : { headers: filledTexts(row.headers, values) }),
  ...(row.query === undefined ? {} : { query: filledTexts(row.query, values) }),
})
