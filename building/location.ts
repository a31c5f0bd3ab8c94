import { type ESTree, parseSync, Visitor } from 'vite'

/** Names that code must use to find a file next to itself, or to load a module with a computed name. */
const SUSPECTS = /\bimport\.meta\b|\b__(?:dir|file)name\b|\brequire\b(?!\s*\(\s*['"])|\bimport\s*\(/

/** Functions for which the folder of the package may be the folder of the program. Bundled code may call them. */
const PACKAGE_FINDERS = new Set(['createRequire', 'findPackageJSON'])

/**
 * Finds the expressions in a module that depend on the location of its file and would break in a bundle: `import.meta`,
 * `__dirname` and `__filename`, any use of `require` other than a call with a literal, and `import()` with a computed
 * name.
 *
 * @param isOurs whether the module belongs to this project, which may look for packages from its own location.
 *
 * @returns the source of each expression on one line of at most 80 characters.
 */
export function locationUses(path: string, code: string, isOurs = false): readonly string[] {
  if (!SUSPECTS.test(code)) return []
  const uses = new Map<number, string>()
  const harmless = new Set<number>()
  const use = ({ start, end }: ESTree.Span): void => {
    uses.set(start, code.slice(start, end).split('\n')[0]!.slice(0, 80))
  }
  const pass = ({ start }: ESTree.Span): void => void harmless.add(start)
  new Visitor({
    MetaProperty: node => node.meta.name === 'import' && use(node),
    ImportExpression: node => node.source.type !== 'Literal' && use(node),
    Identifier: node => /^(?:__(?:dir|file)name|require)$/.test(node.name) && use(node),
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type !== 'Identifier' || first === undefined) return
      if (callee.name === 'require' && first.type === 'Literal') pass(callee)
      // `createRequire(import.meta.url)`
      if (isOurs && PACKAGE_FINDERS.has(callee.name) && first.type === 'MemberExpression') pass(first.object)
    },
    // A property or key with the same name: `value.require`, `{ require: true }`, `typeof require`.
    MemberExpression: node => !node.computed && node.property.type === 'Identifier' && pass(node.property),
    Property: node => !node.computed && !node.shorthand && pass(node.key),
    UnaryExpression: node => node.operator === 'typeof' && pass(node.argument),
  }).visit(parseSync(path, code).program)
  return [...uses].filter(([start]) => !harmless.has(start)).map(([, text]) => text)
}

/** Packages whose default export a module imports statically. A CommonJS bundle has to `require` them. */
export function defaultsImported(path: string, code: string): readonly string[] {
  const { staticImports, staticExports } = parseSync(path, code).module
  const imported = staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.some(({ importName, isType }) => importName.kind === 'Default' && !isType) ? [moduleRequest.value] : [],
  )
  const exported = staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, importName }) =>
      moduleRequest !== null && importName.name === 'default' ? [moduleRequest.value] : [],
    ),
  )
  return [...imported, ...exported]
}
