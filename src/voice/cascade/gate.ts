/** A gate for back-pressure. Producers wait while the gate is closed. */
export class Gate {
  private waiting: PromiseWithResolvers<void> | undefined

  close(): void {
    this.waiting ??= Promise.withResolvers()
  }

  open(): void {
    this.waiting?.resolve()
    this.waiting = undefined
  }

  /** Resolves when the gate opens, or undefined while it is open. */
  get opened(): Promise<void> | undefined {
    return this.waiting?.promise
  }
}
