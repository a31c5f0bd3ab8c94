/** Runs cases one after the other, prints each, and counts. */
export class Outcomes {
  passed = 0
  failed = 0
  skipped = 0
  private group = ''

  /** Cases from here on belong to a set-up of that name. */
  begin(group: string): void {
    this.group = group
    console.log(`\n${group}`)
  }

  /** A case: it passes when its function settles. The result is the function's; undefined where it failed. */
  async try<T>(name: string, run: () => T | Promise<T>): Promise<T | undefined> {
    const began = performance.now()
    try {
      const result = await run()
      this.passed++
      console.log(`  ✓ ${name} (${Math.round(performance.now() - began)} ms)`)
      return result
    } catch (thrown) {
      this.failed++
      console.log(`  ✗ ${this.group}: ${name}\n${indented(thrown as Error)}`)
      return undefined
    }
  }

  skip(name: string, why: string): void {
    this.skipped++
    console.log(`  - SKIPPED ${name}: ${why}`)
  }
}

const indented = ({ stack, message }: Error): string => (stack ?? message).replace(/^/gm, '      ')
