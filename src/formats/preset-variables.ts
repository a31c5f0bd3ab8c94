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

/**
 * Domains of AWS's partitions, by the beginning of their regions: of ordinary and of dual-stack endpoints (the list of
 * partitions in @aws-sdk/core 3.981). Other regions are in the partition `aws` or `aws-us-gov`.
 */
const AWS_DOMAINS: readonly (readonly [prefix: string, domain: string, dualStack: string])[] = [
  ['cn-', 'amazonaws.com.cn', 'api.amazonwebservices.com.cn'],
  ['eusc-', 'amazonaws.eu', 'api.amazonwebservices.eu'],
  ['us-iso-', 'c2s.ic.gov', 'api.aws.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov', 'api.aws.scloud'],
  ['eu-isoe-', 'cloud.adc-e.uk', 'api.cloud-aws.adc-e.uk'],
  ['us-isof-', 'csp.hci.ic.gov', 'api.aws.hci.ic.gov'],
  ['', 'amazonaws.com', 'api.aws'],
]

const awsDomains = (region: string): (typeof AWS_DOMAINS)[number] =>
  AWS_DOMAINS.find(([prefix]) => region.startsWith(prefix))!

/** Names in braces whose values follow from the region. */
const FROM_REGION: { readonly [name: string]: (region: string) => string } = {
  'vertex-host': vertexHost,
  'aws-domain': region => awsDomains(region)[1],
  'aws-api-domain': region => awsDomains(region)[2],
}

/** Returns the names of the variables in braces in a text. */
export const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\{([\w-]+)\}/g)].map(([, name]) => (Object.hasOwn(FROM_REGION, name!) ? 'region' : name!))

/**
 * Replaces the names in braces with their values. A name without a value becomes `missing`, with which the config is
 * refused.
 */
function filledText(text: string, values: VariableValues): string {
  const valueNamed = (name: string): string =>
    Object.hasOwn(FROM_REGION, name) ? FROM_REGION[name]!(values['region'] ?? 'missing') : (values[name] ?? 'missing')
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
