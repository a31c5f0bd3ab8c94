import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { OLD_OPTIONS } from '../../src/commands/old-options.ts'
import { USAGE } from '../../src/commands/outcome.ts'

/* Options with a new name: the old one works, is reported, and is not in the help. */

async function run(...words: string[]) {
  const printed = { out: [] as string[], fault: [] as string[] }
  const terminal = {
    out: (text: string) => void printed.out.push(text),
    fault: (text: string) => void printed.fault.push(text),
  }
  const code = await commandLine(words, terminal)
  return { code, out: printed.out.join('\n'), fault: printed.fault.join('\n') }
}

test('an old option works like the new one, and says which that is', async () => {
  const words = ['conformance', '--peer', 'proxy', '--only', 'no-such-cell']
  const [old, now] = [await run(...words, '--door', 'chat'), await run(...words, '--caller', 'chat')]
  const [warning, ...rest] = old.fault.split('\n')
  expect(warning).toBe('warning: --door is --caller since 0.1.0, and will be removed in 1.0.0')
  expect([old.code, rest.join('\n')]).toEqual([now.code, now.fault])
})

test('the value of an old option is checked like that of the new one', async () => {
  for (const option of ['--door', '--caller']) {
    const { code, fault } = await run('conformance', '--peer', 'proxy', option, 'chatt')
    expect([code, fault.includes('did you mean "chat"?')]).toEqual([USAGE, true])
  }
})

test.each(OLD_OPTIONS)(
  '$old is not in the help, and in the table of docs/operations.md',
  async ({ old, now, since, removed }) => {
    for (const command of ['conformance', 'record', 'replay'])
      expect((await run(command, '--help')).out).not.toContain(old)
    const row = readFileSync('docs/operations.md', 'utf8')
      .split('\n')
      .find(line => line.includes(`| \`${old}\``))!
    for (const part of [`\`${now}\``, since, removed]) expect(row).toContain(part)
  },
)
