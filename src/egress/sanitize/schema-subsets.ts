import type { JsonObject } from '../../canonical/node.ts'
import { withDeclaredNames } from './declared-names.ts'
import { grammarSchema } from './grammar-schema.ts'
import { kimiSchema } from './kimi-schema.ts'
import { withCurrentKeywords } from './older-drafts.ts'
import { xaiSchema } from './xai-schema.ts'

/** Dialect flags that affect schemas. */
export interface SchemaDialect {
  readonly schemas?: 'any' | 'current' | 'grammar' | 'groq' | 'kimi' | 'xai'
}

const same = (schema: JsonObject): JsonObject => schema

/** Writes a schema in the subset that the upstream takes. Returns the same object for a schema within it. */
export const SUBSETS: { readonly [S in NonNullable<SchemaDialect['schemas']>]: (schema: JsonObject) => JsonObject } = {
  any: same,
  current: withCurrentKeywords,
  grammar: grammarSchema,
  groq: withDeclaredNames,
  kimi: kimiSchema,
  xai: xaiSchema,
}
