"use strict";(()=>{var e=localStorage.getItem("literati.theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e);})();
