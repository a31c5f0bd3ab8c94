import { FALLBACK_REASONS, type FallbackModel } from '../formats/model-facts.ts'
import type { FaultAt } from './faults.ts'
import type { WrittenConfig } from './index.ts'

type WrittenFallbacks = NonNullable<NonNullable<WrittenConfig['groups']>[string]['fallbacks']>

/** Returns the fallback models of a model or group. A plain name is used for every reason. */
export function fallbacksOf(
  written: WrittenFallbacks | undefined,
  model: string | undefined,
  fault: FaultAt,
): readonly FallbackModel[] | undefined {
  const fallbacks = written?.map(one => (typeof one === 'string' ? { model: one } : one))
  for (const [index, one] of (fallbacks ?? []).entries()) {
    if (one.model === model) fault([index], 'is the model itself')
    if (fallbacks!.findIndex(other => other.model === one.model) < index) fault([index], 'is listed twice')
  }
  return fallbacks?.map(one => ({ model: one.model, on: new Set(one.on ?? FALLBACK_REASONS) }))
}
