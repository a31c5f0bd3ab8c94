import { computed, signal } from '@preact/signals'

/** Ids of the open dialogs, the top one last. */
const openDialogs = signal<readonly string[]>([])

/** Id of the dialog above all others. Undefined if none is open. */
export const topDialog = computed(() => openDialogs.value.at(-1))

/** Notes that a dialog was opened. Returns a function that notes its end. */
export function noteOpen(id: string): () => void {
  openDialogs.value = [...openDialogs.value, id]
  return () => {
    openDialogs.value = openDialogs.value.filter(one => one !== id)
  }
}
