// How much a box shows. The first of these that fits the width of the stage is drawn.
export interface Detail {
  name: number; // font sizes
  cut: number;
  small: number;
  pad: number;
  strip: number; // height of the strip of a split
  bars: number; // height of the node's rows over the strip; 0 for none
  missing: number; // width of the cell for missing values
  ends: boolean; // whether a strip names the ends of its range
  classes: boolean; // whether a leaf lists its classes
  least: number; // width of a strip
  nameRoom: number; // longer names are shortened
  gap: number; // between boxes
  rise: number; // between levels
}

export const FULL: Detail = {
  name: 13, cut: 12, small: 10, pad: 10, strip: 12, bars: 34, missing: 48, ends: true, classes: true, least: 168, nameRoom: 240, gap: 16, rise: 46,
};
const MIDDLE: Detail = { ...FULL, pad: 8, missing: 14, ends: false, classes: false, least: 130, nameRoom: 170, gap: 10 };
const COMPACT: Detail = {
  ...MIDDLE, name: 12, pad: 6, strip: 8, bars: 0, missing: 10, least: 64, nameRoom: 112, gap: 6, rise: 32,
};

export const DETAILS = [FULL, MIDDLE, COMPACT];
