import { readFileSync } from 'node:fs'

/* Reads the unions and the fields of an SDK's own types from its declarations. */

/** A declared interface: its fields, and the values of its field `type`. */
interface Declared {
  readonly fields: readonly string[]
  readonly types: readonly string[]
}

export interface Declarations {
  /** The values of `type` of all members of a union, or of a single interface. */
  typesOf(name: string): readonly string[]
  /** The names of an interface's fields. */
  fieldsOf(name: string): readonly string[]
}

const NAMED = /^(\s*)(?:export )?(?:declare )?(interface|class|namespace|type) (\w+)/
const FIELD = /^(\s*)(?:readonly )?'?(\w+)'?\??: (.*)$/

/** Reads declaration files as the SDKs print them: one member a line, members indented by four spaces. */
export function declarationsIn(...paths: readonly string[]): Declarations {
  const interfaces = new Map<string, Declared>()
  const unions = new Map<string, string>()
  for (const path of paths) read(readFileSync(path, 'utf8'), interfaces, unions)

  const typesOf = (name: string): readonly string[] => {
    const declared = interfaces.get(name)
    if (declared !== undefined) return declared.types
    const union = unions.get(name)
    if (union === undefined) throw new Error(`no type ${name}`)
    return union.split('|').flatMap(member => typesOf(member.trim()))
  }
  const fieldsOf = (name: string): readonly string[] => {
    const declared = interfaces.get(name)
    if (declared === undefined) throw new Error(`no interface ${name}`)
    return declared.fields
  }
  return { typesOf: name => unique(typesOf(name)), fieldsOf: name => unique(fieldsOf(name)) }
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

function read(text: string, interfaces: Map<string, Declared>, unions: Map<string, string>): void {
  /** The declarations around the line, by their indentation. */
  const around: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const named = NAMED.exec(line)
    if (named !== null) {
      const [, indent, kind, name] = named
      around.length = indent!.length / 4
      around.push(name!)
      const path = around.join('.')
      const union = /= (.*);$/.exec(line)?.[1]
      if (kind === 'type' && union !== undefined) unions.set(path, union)
      if (kind === 'interface' || kind === 'class') interfaces.set(path, { fields: [], types: [] })
      continue
    }
    const field = FIELD.exec(line)
    const depth = field === null ? 0 : field[1]!.length / 4
    const declared = field === null ? undefined : interfaces.get(around.slice(0, depth).join('.'))
    if (field === null || declared === undefined) continue
    ;(declared.fields as string[]).push(field[2]!)
    if (field[2] === 'type')
      for (const [, type] of field[3]!.matchAll(/'([^']+)'/g)) (declared.types as string[]).push(type!)
  }
}
