/** Region and vendor prefix of model names at Amazon Bedrock, for example `us.anthropic.`. */
const BEDROCK = /^(?:(?:us-gov|us|eu|apac|au|ca|jp|global)\.)?[a-z0-9]+\.(?=[a-z])/
/** Version suffix of model names at Amazon Bedrock, for example `-v1:0`. */
const BEDROCK_VERSION = /-v\d+(?::\d+)?$/
/** Suffix that selects how the same model is served, for example `:free`. */
const VARIANT = /:[a-z]+$/
/** Release date at the end of a name. */
const DATE = /[-@]\d{4}-?\d{2}-?\d{2}$/
/** Suffix that refers to the latest release. */
const LATEST = /(?:-latest|@default)$/

/**
 * Returns the names under which a model may be listed, most specific first: the full name, then without the host's
 * prefix, the variant and the date, last as a preview. Names are lowercase and write `4.5` as `4-5`.
 */
export function listedNames(model: string): readonly string[] {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  const plain = name.replace(VARIANT, '').replace(BEDROCK, '').replace(BEDROCK_VERSION, '')
  const all = [name, plain].flatMap(one => [one, one.replace(DATE, ''), one.replace(LATEST, '')])
  return [...new Set([...all, `${plain}-preview`].map(one => one.replace(/(\d)\.(?=\d)/g, '$1-')))]
}
