export default function Page() {
  return <p>spillway</p>
}
