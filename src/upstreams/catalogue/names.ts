/** The region and vendor before a model's name at Amazon Bedrock, e.g. `us.anthropic.`. */
const BEDROCK = /^(?:(?:us-gov|us|eu|apac|au|ca|jp|global)\.)?[a-z0-9]+\.(?=[a-z])/
const BEDROCK_VERSION = /-v\d+(?::\d+)?$/
/** A way of serving the same model, e.g. `:free`. */
const VARIANT = /:[a-z]+$/
const DATE = /[-@]\d{4}-?\d{2}-?\d{2}$/
const LATEST = /(?:-latest|@default)$/

/**
 * The names under which a model may be listed, the most exact first: as it is called, then without its host's prefix,
 * variant and date, and as the preview it was listed as. Names are lowercase, with `4-5` for `4.5`.
 */
export function listedNames(model: string): readonly string[] {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  const plain = name.replace(VARIANT, '').replace(BEDROCK, '').replace(BEDROCK_VERSION, '')
  const all = [name, plain].flatMap(one => [one, one.replace(DATE, ''), one.replace(LATEST, '')])
  return [...new Set([...all, `${plain}-preview`].map(one => one.replace(/(\d)\.(?=\d)/g, '$1-')))]
}
