import { globSync, readFileSync } from 'node:fs'

const CITED = /\b[Tt]raps? (\d+(?:(?:, | and |-)\d+)*)/g

/** A line break inside a comment. A citation may continue after it. */
const LINE_BREAK = /\n *(?:\*|\/\/) /g

/** Returns the files that cite each trap by its number: `trap 31`, `traps 26-36`, `traps 47, 65`. */
export function trapsIn(files: readonly string[]): Map<number, Set<string>> {
  const cited = new Map<number, Set<string>>()
  for (const file of files.toSorted()) {
    const text = readFileSync(file, 'utf8').replace(LINE_BREAK, ' ')
    for (const [, list] of text.matchAll(CITED)) {
      for (const number of numbersIn(list!)) cited.set(number, (cited.get(number) ?? new Set()).add(file))
    }
  }
  return cited
}

function numbersIn(list: string): number[] {
  return list.split(/, | and /).flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, index) => first! + index)
  })
}

const ROW = /^(\| (\d+) \|.*\|)[^|]*\|$/gm

/** Returns the page with the last column of every row generated anew. */
export function withTests(page: string): string {
  const tests = trapsIn(globSync('test/**/*.ts'))
  return page.replace(ROW, (_, row: string, number: string) => {
    const files = [...(tests.get(Number(number)) ?? [])].map(file => `\`${file}\``)
    return `${row} ${files.join(', ')} |`
  })
}
