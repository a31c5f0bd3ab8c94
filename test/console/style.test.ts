import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'

const FILES = globSync('console/src/**/*.css').filter(file => basename(file) !== 'tokens.css')

/** Lines of the styles that match, with their files. */
const linesWith = (pattern: RegExp): string[] =>
  FILES.flatMap(file =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(line => pattern.test(line))
      .map(line => `${file}: ${line.trim()}`),
  )

test('colours are tokens', () => {
  expect(FILES.length).toBeGreaterThan(15)
  expect(linesWith(/#[0-9a-f]{3,8}\b(?!.*\{)|\b(rgb|hsl|oklch)a?\(/i)).toEqual([])
})

test('sizes of texts are those of the type scale', () => {
  expect(linesWith(/font-size: [\d.]+px/)).toEqual([])
  expect(linesWith(/font-weight: (?!400|inherit|var\(|100 900)/)).toEqual([])
})

test('distances of the scale are written as its tokens', () => {
  const scale = [...readFileSync('console/src/style/tokens.css', 'utf8').matchAll(/--space-[\d-]+: (\d+)px/g)]
  expect(scale.length).toBeGreaterThan(10)
  const ofScale = new RegExp(
    `^\\s*(?:(?:row-|column-)?gap|(?:padding|margin)[a-z-]*): (?:[^;]* )?(?:${scale.map(([, px]) => px).join('|')})px`,
  )
  expect(linesWith(ofScale)).toEqual([])
})
