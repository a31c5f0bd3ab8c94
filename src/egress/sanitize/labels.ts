import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'

/*
 * Labels of Google: short texts in lower case (docs.cloud.google.com/vertex-ai, "Custom metadata labels", "Requirements
 * for labels", read on 2026-12-01).
 */

/** Matches label names that Google accepts. */
const LABEL_NAME = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u
/** Matches label values that Google accepts. */
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u
/** Maximum number of labels of a request. */
const MAX_LABELS = 64

/** Returns the metadata that can be labels. Reports the others as lost. */
export function labelsOf(metadata: JsonObject, losses: Losses): JsonObject {
  const accepted = Object.entries(metadata).filter(([name, value]) => {
    const isLabel = LABEL_NAME.test(name) && typeof value === 'string' && LABEL_VALUE.test(value)
    if (!isLabel) losses.drop(['metadata', name], 'labels-are-short-and-in-lower-case')
    return isLabel
  })
  for (const [name] of accepted.slice(MAX_LABELS)) losses.drop(['metadata', name], 'too-many-labels')
  return Object.fromEntries(accepted.slice(0, MAX_LABELS))
}
