/** An entry of a list. It is needed to move or remove its value. */
export interface Link<T> {
  readonly value: T
  before: Link<T> | undefined
  after: Link<T> | undefined
}

/** A doubly linked list. Adds at the end and removes anywhere in constant time. */
export class LinkedList<T> {
  private head: Link<T> | undefined
  private tail: Link<T> | undefined

  get first(): T | undefined {
    return this.head?.value
  }

  push(value: T): Link<T> {
    const link: Link<T> = { value, before: undefined, after: undefined }
    this.append(link)
    return link
  }

  /** Moves an entry of the list to its end. */
  moveToEnd(link: Link<T>): void {
    if (this.tail === link) return
    this.remove(link)
    this.append(link)
  }

  remove(link: Link<T>): void {
    if (link.before === undefined) this.head = link.after
    else link.before.after = link.after
    if (link.after === undefined) this.tail = link.before
    else link.after.before = link.before
    link.before = undefined
    link.after = undefined
  }

  private append(link: Link<T>): void {
    link.before = this.tail
    if (this.tail === undefined) this.head = link
    else this.tail.after = link
    this.tail = link
  }
}
