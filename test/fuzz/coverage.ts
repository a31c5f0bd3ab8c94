import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vitest/node'

/*
 * Counts the runs of every block of the sources: functions, branches, cases, right sides of `&&`, `||` and `??`, and
 * default values. Counters are written into each module when it is loaded, so that this module must be loaded first.
 */

/** Maximum number of blocks. The sources have about half as many. */
const MAX_BLOCKS = 2 ** 17
const COUNTERS = 'runsOfBlocks'
const ROOT = join(import.meta.dirname, '../..')

const counters = new Uint8Array(MAX_BLOCKS)
const counterWords = new Uint32Array(counters.buffer)
Object.defineProperty(globalThis, COUNTERS, { value: counters })

let blocks = 0
/** The file of each block, by the number of its last block. */
const files: { readonly file: string; readonly end: number }[] = []
/** Words of each file that an input may need: its string literals and the names of fields that it reads. */
const wordsOfFiles = new Map<string, ReadonlySet<string>>()

/** Modules that are counted: the sources, and the readers with planted faults. */
const COUNTED = /^file:.*\/(src\/.*|test\/fuzz\/planted)\.ts$/

registerHooks({
  load(url, context, next) {
    if (!COUNTED.test(url)) return next(url, context)
    const path = fileURLToPath(url)
    const file = relative(ROOT, path)
    return { format: 'module-typescript', source: counted(readFileSync(path, 'utf8'), file), shortCircuit: true }
  },
})

/** Blocks that inputs have reached, each with the numbers of its runs in one input, in classes of powers of two. */
export class Reached {
  private readonly classes = new Uint8Array(MAX_BLOCKS)

  /** Sets all counters to zero, before an input runs. */
  start(): void {
    counterWords.fill(0, 0, (blocks >> 2) + 1)
  }

  /** Adds what the input reached. Returns whether a block, or the class of its runs, is new. */
  add(): boolean {
    let isNew = false
    const end = (blocks >> 2) + 1
    for (let word = 0; word < end; word++) {
      if (counterWords[word] === 0) continue
      for (let block = word * 4; block < word * 4 + 4; block++) {
        const runs = counters[block]!
        if (runs === 0) continue
        const bit = CLASSES[runs]!
        if ((this.classes[block]! & bit) !== 0) continue
        this.classes[block]! |= bit
        isNew = true
      }
    }
    return isNew
  }

  /** Returns the number of reached blocks, and of all blocks, in the files whose path matches. */
  share(of: RegExp): { readonly reached: number; readonly all: number } {
    let [reached, all, start] = [0, 0, 0]
    for (const { file, end } of files) {
      if (of.test(file)) {
        all += end - start
        for (let block = start; block < end; block++) if (this.classes[block] !== 0) reached++
      }
      start = end
    }
    return { reached, all }
  }
}

/** The class of each number of runs, as a bit. */
const CLASSES = Uint8Array.from(
  { length: 256 },
  (_, runs) => 1 << Math.min(7, Math.floor(Math.log2(Math.max(runs, 1)))),
)

/** Returns the words of all loaded files whose path matches. */
export function wordsIn(of: RegExp): readonly string[] {
  const words = new Set<string>()
  for (const [file, some] of wordsOfFiles) if (of.test(file)) for (const word of some) words.add(word)
  return [...words]
}

/** Text to insert into a source. */
type Insert = readonly [at: number, text: string]

/** Returns the source with a counter in each block, on unchanged lines. */
function counted(source: string, file: string): string {
  const inserts: Insert[] = []
  const words = new Set<string>()
  collect(parseAst(source, { lang: 'ts' }) as unknown as Node, inserts, words)
  wordsOfFiles.set(file, words)
  files.push({ file, end: blocks })
  if (blocks > MAX_BLOCKS) throw new Error('MAX_BLOCKS is too small')
  let text = ''
  let from = 0
  // Inserts at the same position stay in the order of the walk: ends of inner nodes come before those of outer ones.
  for (const [at, insert] of inserts.sort(([a], [b]) => a - b)) {
    text += source.slice(from, at) + insert
    from = at
  }
  return text + source.slice(from)
}

/** A node of the source's syntax tree, as far as it matters here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly body?: Node
  readonly consequent?: Node | readonly Node[]
  readonly alternate?: Node | null
  readonly right?: Node
  readonly key?: { readonly name?: string }
  readonly value?: unknown
}

const newCounter = (): string => `${COUNTERS}[${blocks++}]++`

/** Nodes with a child that runs only sometimes: the child that is counted as an expression or a statement. */
const CHILDREN: { readonly [type: string]: (node: Node) => readonly (Node | null | undefined)[] } = {
  ArrowFunctionExpression: ({ body }) => [body],
  ConditionalExpression: ({ consequent, alternate }) => [consequent as Node, alternate],
  LogicalExpression: ({ right }) => [right],
  AssignmentPattern: ({ right }) => [right],
  IfStatement: ({ consequent, alternate }) => [consequent as Node, alternate],
  ForStatement: ({ body }) => [body],
  ForOfStatement: ({ body }) => [body],
  ForInStatement: ({ body }) => [body],
  WhileStatement: ({ body }) => [body],
}

/** Collects the inserts and words of a node and all nodes in it. */
function collect(node: Node, inserts: Insert[], words: Set<string>, isCounted = false): void {
  const isStatement = node.type.endsWith('Statement')
  const isWrapped = isCounted && node.type !== 'BlockStatement'
  if (isWrapped) inserts.push([node.start, isStatement ? `{${newCounter()};` : `(${newCounter()},`])
  if (node.type === 'BlockStatement') inserts.push([node.start + 1, `${newCounter()};`])
  if (node.type === 'SwitchCase') {
    const [first] = node.consequent as readonly Node[]
    if (first !== undefined) inserts.push([first.start, `${newCounter()};`])
  }
  if (node.type === 'Literal' && typeof node.value === 'string' && isWord(node.value)) words.add(node.value)
  if (/^(Property|TSPropertySignature)$/.test(node.type) && isWord(node.key?.name)) words.add(node.key!.name!)
  const sometimes = CHILDREN[node.type]?.(node)
  for (const child of childrenOf(node)) collect(child, inserts, words, sometimes?.includes(child))
  if (isWrapped) inserts.push([node.end, isStatement ? '}' : ')'])
}

function* childrenOf(node: Node): Generator<Node> {
  for (const child of Object.values(node).flat()) if (isNode(child)) yield child
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const isWord = (text: string | undefined): boolean =>
  text !== undefined && text.length > 0 && text.length <= 48 && !text.includes('/src/') && !text.startsWith('.')
