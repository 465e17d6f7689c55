// Runs before the first paint: a chosen theme must not flash.
const chosen = localStorage.getItem("literati.theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
