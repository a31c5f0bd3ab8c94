import { useEffect, useState } from 'preact/hooks'
import { common } from '../i18n/common.ts'
import { Button, type ButtonProps } from './button.tsx'

interface CopyProps extends Pick<ButtonProps, 'kind' | 'small'> {
  readonly text: string
  /** What is copied, for screen readers: `secret`. */
  readonly what?: string
  /** Without a word beside the picture. */
  readonly bare?: boolean
  readonly autofocus?: boolean
}

/** Milliseconds for which the button says that it did. */
const SHOWN = 2000

export function Copy({ text, what, bare, autofocus, ...props }: CopyProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN)
    return () => clearTimeout(timer)
  }, [copied])
  const label = copied ? common().copied : what === undefined ? common().copy : common().copyOf(what)
  return (
    <>
      <Button
        {...props}
        icon={copied ? 'check' : 'copy'}
        aria-label={label}
        title={bare ? label : undefined}
        data-autofocus={autofocus}
        onClick={() => copyText(text).then(() => setCopied(true))}
      >
        {bare ? undefined : copied ? common().copied : common().copy}
      </Button>
      <span class="unseen" role="status">
        {copied ? common().copied : ''}
      </span>
    </>
  )
}

/** Where the page did not come over TLS, browsers have no clipboard but the command of old. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.className = 'unseen'
  // Within a modal dialog nothing outside can be selected.
  const host = document.activeElement?.closest('dialog') ?? document.body
  const before = document.activeElement
  host.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
}
