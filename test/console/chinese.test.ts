import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FLAGS } from '../../console/src/i18n/chinese/flags.ts'
import { OTHERS } from '../../console/src/i18n/chinese/reasons.ts'
import { LACKING } from '../../console/src/i18n/chinese/reasons-lacking.ts'
import { FLAGS_OF } from '../../src/formats/dialects/index.ts'

const CHINESE = /[\u4e00-\u9fff]/

test('every flag of a dialect has its meaning in Chinese', () => {
  const flags = new Set(Object.values(FLAGS_OF).flatMap(of => Object.keys(of)))
  expect(flags.size).toBeGreaterThan(50)
  expect([...flags].filter(flag => !CHINESE.test(FLAGS[flag] ?? ''))).toEqual([])
  expect(Object.keys(FLAGS).filter(flag => !flags.has(flag))).toEqual([])
})

/** Matches the reason in a call that reports a loss. */
const REPORTED = /\blosses\.(?:drop|change|add|insert|reorder|move)[A-Za-z]*\([^\n]*'([a-z0-9]+(?:-[a-z0-9]+)+)'\)/g

test('every reason for a loss in the sources and the goldens has a Chinese text', () => {
  const reasons = new Set(
    globSync('fixtures/**/*.to-*').flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/"reason": ?"([a-z0-9.-]+)"/g)].map(([, one]) => one!),
    ),
  )
  for (const [, reason] of readFileSync('docs/losses.md', 'utf8').matchAll(
    /(?:dropped|changed|added|moved): ([a-z0-9.-]+)/g,
  ))
    reasons.add(reason!)
  for (const file of globSync('src/{egress,gateway,voice}/**/*.ts'))
    for (const [, reason] of readFileSync(file, 'utf8').matchAll(REPORTED)) reasons.add(reason!)
  expect(reasons.size).toBeGreaterThan(100)
  const known = (reason: string) => CHINESE.test(LACKING[reason] ?? OTHERS[reason] ?? '') || /^only-in-/.test(reason)
  expect([...reasons].filter(reason => !known(reason))).toEqual([])
})
