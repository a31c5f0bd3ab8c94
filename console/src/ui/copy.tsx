import { useEffect, useState } from 'preact/hooks'
import { common } from '../i18n/common.ts'
import { Button, type ButtonProps } from './button.tsx'

interface CopyProps extends Pick<ButtonProps, 'kind' | 'small'> {
  readonly text: string
  /** Name of the copied text for screen readers, such as `secret`. */
  readonly what?: string
  /** Shows only the icon. */
  readonly bare?: boolean
  readonly autofocus?: boolean
}

/** Time for which the button shows “Copied”, in milliseconds. */
const SHOWN = 2000

/** A button that copies a string to the clipboard. */
export function Copy({ text, what, bare, autofocus, ...props }: CopyProps) {
  const [copied, setCopied] = useState(false)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text).then(
      () => true,
      () => false,
    )
    setCopied(isCopied)
    setFailed(!isCopied)
  }
  const label = copied ? common().copied : what === undefined ? common().copy : common().copyOf(what)
  return (
    <>
      <Button
        {...props}
        icon={copied ? 'check' : 'copy'}
        aria-label={label}
        title={bare ? label : undefined}
        data-autofocus={autofocus}
        onClick={copy}
      >
        {bare ? undefined : copied ? common().copied : common().copy}
      </Button>
      <span class="unseen" role="status">
        {copied ? common().copied : ''}
      </span>
      {failed && (
        <span class="note" role="alert">
          {common().notCopied}
        </span>
      )}
    </>
  )
}

/**
 * Copies a string to the clipboard. Without TLS, browsers offer only the deprecated `execCommand`. Rejects if the browser
 * refuses.
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.className = 'unseen'
  // While a modal dialog is open, nothing outside it can be selected.
  const host = document.activeElement?.closest('dialog') ?? document.body
  const before = document.activeElement
  host.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!isCopied) throw new Error('The browser refused to copy.')
}
