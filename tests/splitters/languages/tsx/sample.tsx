import React, { useState } from 'react';

type Props = { labels: string[]; onOpen?: (label: string) => void };

interface State {
  open: boolean;
}

/** One jar; clicking opens it. */
export const Jar: React.FC<{ label: string }> = ({ label }) => {
  const [open, setOpen] = useState(false);
  const toggle = () => setOpen(!open);
  return (
    <button className="jar function Fake() {" onClick={toggle}>
      {open ? label : '…'}
    </button>
  );
};

function Row({ children }: React.PropsWithChildren) {
  return <div className="row">{children}</div>;
}

export default function Shelf({ labels, onOpen }: Props) {
  function renderJar(label: string) {
    return <Jar key={label} label={label} />;
  }

  return (
    <>
      {/* const fake = () => {} */}
      <Row>{labels.map(renderJar)}</Row>
      <button onClick={() => onOpen?.('all')}>open</button>
    </>
  );
}

export class Boundary extends React.Component<Props, State> {
  state: State = { open: false };

  static getDerivedStateFromError(): State {
    return { open: true };
  }

  render() {
    return this.state.open ? <p>class Broken {'{'}</p> : <Shelf {...this.props} />;
  }
}

export const Memo = React.memo(Shelf);
