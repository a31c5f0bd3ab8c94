import type { Loose } from './vendor.ts'

/*
 * Kimi's rules for schemas, by hand from the level `strict` of github.com/MoonshotAI/walle (196bb0c, read on 2026-12-01)
 * and from errors in MoonshotAI/kimi-cli#2061 and #2531, can1357/oh-my-pi#5952, pi#4138 and #5822, command-code#594,
 * CLIProxyAPI#5316 and jiuwenswarm#3942.
 */

const isNode = (value: Loose): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const RESERVED = ['$defs', '$ref', 'anyOf', 'required', 'additionalProperties']
const COMMON = ['description', 'title']

/** Returns true if Kimi refuses the schema of a tool. */
export const isRefusedSchema = (schema: Loose): boolean => schema?.type !== 'object' || isRefused(schema, schema)

function isRefused(node: Loose, root: Loose): boolean {
  const { type, $ref, anyOf, enum: values, properties, required, items, additionalProperties } = node
  const keys = Object.keys(node)
  if (type !== undefined && (anyOf !== undefined || $ref !== undefined)) return true
  if ($ref !== undefined && $ref !== '#' && root.$defs?.[/^#\/\$defs\/(.+)$/.exec($ref)?.[1] ?? ''] === undefined)
    return true
  const target = $ref === undefined || $ref === '#' ? undefined : root.$defs[$ref.slice('#/$defs/'.length)]
  if (target !== undefined && COMMON.some(key => node[key] !== undefined && target[key] !== undefined)) return true
  if (values !== undefined && (type === undefined || values.length === 0)) return true
  const nullable = Array.isArray(type) && type.length === 2 && type.includes('null') && values !== undefined
  const only = [...COMMON, 'type', ...(node === root ? ['$defs', '$id'] : [])]
  if (Array.isArray(type) && type.length > 1 && !nullable && keys.some(key => !only.includes(key))) return true
  if (items !== undefined && !isNode(items)) return true
  const names = Object.keys(properties ?? {})
  if (names.some(name => RESERVED.includes(name) || !isNode(properties[name]))) return true
  if ((required ?? []).some((name: string) => !names.includes(name))) return true
  const branches: Loose[] = anyOf ?? []
  if (anyOf !== undefined && (branches.length === 0 || !branches.every(isNode))) return true
  const outer = keys.filter(key => key !== 'anyOf' && !COMMON.includes(key))
  if (branches.some(branch => outer.some(key => branch[key] !== undefined))) return true
  const inner = [...Object.values(properties ?? {}), ...Object.values(node.$defs ?? {}), ...branches]
  const others = [items, additionalProperties].filter(isNode)
  return [...inner, ...others].some(one => isNode(one) && isRefused(one, root))
}
