/** Runs cases one after another, prints each, and counts them. */
export class Outcomes {
  passed = 0
  failed = 0
  skipped = 0
  private group = ''

  /** Starts the cases of a set-up with this name. */
  begin(group: string): void {
    this.group = group
    console.log(`\n${group}`)
  }

  /** Runs a case. It passes if its function settles. Returns the function's result. Undefined if it failed. */
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
