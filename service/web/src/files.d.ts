declare module "*.css";
/** A file that is served beside the page; the import is its address. */
declare module "*.csv" {
  const address: string;
  export default address;
}
