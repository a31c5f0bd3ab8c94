import { type ESTree, parseSync, Visitor } from 'vite'

/** Words without which no code finds a file beside itself, or loads a module whose name it computes. */
const SUSPECTS = /\bimport\.meta\b|\b__(?:dir|file)name\b|\brequire\b(?!\s*\(\s*['"])|\bimport\s*\(/

/** What is a package's own folder to these functions is the program's: bundled code may call them. */
const PACKAGE_FINDERS = new Set(['createRequire', 'findPackageJSON'])

/**
 * Expressions of a module that depend on where its file is, and so break when it is bundled: `import.meta`, `__dirname`
 * and `__filename`, `require` as anything but a call with a literal, `import()` of a computed name.
 *
 * @param isOurs a module of this project may look for packages from where it is.
 * @returns each expression as it is written, cut to one line of at most 80 characters.
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
    // A name of something else: `value.require`, `{ require: true }`, `typeof require`.
    MemberExpression: node => !node.computed && node.property.type === 'Identifier' && pass(node.property),
    Property: node => !node.computed && !node.shorthand && pass(node.key),
    UnaryExpression: node => node.operator === 'typeof' && pass(node.argument),
  }).visit(parseSync(path, code).program)
  return [...uses].filter(([start]) => !harmless.has(start)).map(([, text]) => text)
}

/** Packages whose default export a module imports by a statement, so that a bundle in CommonJS has to `require` them. */
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
