import type { Format } from '../canonical/node.ts'
import { column } from './rows/index.ts'
import { modelFields } from './rows/model-field-lists.ts'
import type { ModelFields } from './rows/row.ts'

/**
 * A field whose content replaces fields of the object around it, at any depth: LiteLLM merges it into the body it
 * sends.
 */
export const EXTRA_BODY = 'extra_body'

/** The fields that may name models, for each format that callers use. */
export const MODEL_FIELDS: ReadonlyMap<Format, ModelFields> = column(row =>
  row.callers === undefined ? undefined : (row.modelFields ?? modelFields()),
)
