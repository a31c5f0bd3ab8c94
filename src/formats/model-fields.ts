import type { Format } from '../canonical/node.ts'
import { column } from './rows/index.ts'
import { modelFields } from './rows/model-field-lists.ts'
import type { ModelFields } from './rows/row.ts'

/**
 * A field, at any depth, whose content replaces fields of the surrounding object. LiteLLM merges it into the body that
 * it sends.
 */
export const EXTRA_BODY = 'extra_body'

/** Fields that may contain model names, for each format that callers use. */
export const MODEL_FIELDS: ReadonlyMap<Format, ModelFields> = column(row =>
  row.callers === undefined ? undefined : (row.modelFields ?? modelFields()),
)
