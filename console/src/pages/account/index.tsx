/** Nothing yet. */
export default function Empty() {
  return null
}
