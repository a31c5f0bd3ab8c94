/* Built-in facts about upstreams: vendor presets, formats, models and credentials. */

export { type AuthStyle, authHeaders, sentStyle } from './auth.ts'
export { baseUrlAt, formatsAt } from './base-urls.ts'
export { allowedBetas } from './betas.ts'
export { CALLER_FORMATS } from './caller-formats.ts'
export { DIALECT_FLAGS, type DialectFlag } from './dialects/index.ts'
export {
  baseUrlFor,
  type Fitness,
  FORMAT_FACTS,
  fitnessOf,
  formatMadeFor,
  isDirect,
  isMixed,
  URL_VERSION,
} from './formats.ts'
export { hostDialect, isBelowHost } from './known-hosts.ts'
export { familyDialect } from './model-families.ts'
export { formatFor, type ModelLimits } from './models.ts'
export type { Preset, PresetFormat, PresetVariable, PresetVariableSource } from './preset.ts'
export { namesIn, type VariableValues, withVariables } from './preset-variables.ts'
export { PRESETS } from './presets.ts'
export { OPENAI_RESPONSES_MODELS } from './responses-models.ts'
export { type MediaEstimates, MOST_EXPENSIVE_FORMAT, tokenEstimates } from './token-prices.ts'
