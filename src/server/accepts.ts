/**
 * Returns true if a header such as `Accept` or `Accept-Encoding` lists a value with a weight above 0 (RFC 9110,
 * section 12.4.2).
 */
export const accepts = (list: string, value: string): boolean =>
  list.split(',').some(item => {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim().toLowerCase())
    return name === value && !parameters.some(part => /^q=0(?:\.0*)?$/.test(part))
  })
