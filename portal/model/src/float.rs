//! Floating-point registers: one set in the processor, one owner; `fp_live` of a thread says where those of its current
//! context are.

use core::mem::offset_of;
use pebble_abi::errno::Errno;
use pebble_abi::object::{
    Frame, FrameKind, FrameName, Hart, Thread, FLOATING_FRAME, FRAME_HEADER, PARTIAL_FRAME,
};

use crate::machine::{field, Machine};
use crate::World;

/// `scause` of an illegal instruction.
const ILLEGAL: u64 = 2;

impl Machine {
    fn owner_place(&self) -> u64 {
        self.get(self.thread + field!(Thread.hart)) + field!(Hart.fp_owner)
    }
    fn live(&self) -> u64 {
        self.thread + field!(Thread.fp_live)
    }
    /// The words of the thread's record.
    fn own_floats(&self) -> u64 {
        self.thread + field!(Thread.fp)
    }
    fn copy_floats(&mut self, from: u64, to: u64) {
        for word in 0..33 {
            let value = self.get(from + 8 * word);
            self.set(to + 8 * word, value);
        }
    }
    /// The registers of the processor go to 33 words at `place`.
    fn save_floats(&mut self, place: u64) {
        for number in 0..32 {
            self.set(place + 8 * number as u64, self.f[number]);
        }
        self.set(place + 8 * 32, self.fcsr);
    }
    fn load_floats(&mut self, place: u64) {
        for number in 0..32 {
            self.f[number] = self.get(place + 8 * number as u64);
        }
        self.fcsr = self.get(place + 8 * 32) & 0xff;
    }
    fn top_is_floating(&self) -> bool {
        FrameName(self.get(self.frame() + field!(Frame.name))).kind() == FrameKind::Floating as u64
    }
}

impl World<'_> {
    /// Letter `p`: the callee is a user of its own, the invoker's registers wait on the invocation stack.
    pub(crate) fn push_floats(&self, m: &mut Machine) {
        // None, or in a frame already, which the calls above it leave alone.
        if m.get(m.live()) != m.own_floats() {
            return;
        }
        if !m.top_is_floating() {
            let portal = self.portal(self.system.float_push);
            let frame = m.push(
                portal.entry,
                portal.name,
                FrameKind::Floating,
                FLOATING_FRAME,
            );
            m.set(frame + field!(Frame.pc), 0);
            m.set(frame + field!(Frame.sp), 0);
            m.set(frame + field!(Frame.stack), 0);
        }
        let words = m.frame() + FRAME_HEADER;
        m.set(m.live(), words);
        m.forget(m.thread + field!(Thread.float_scratch) + 8);
        let owner = m.owner_place();
        if m.get(owner) == m.thread {
            m.set(owner, 0);
            m.save_floats(words);
            m.float_on = false;
        } else {
            m.copy_floats(m.own_floats(), words);
        }
    }

    /// The call with that frame is made: the frame knows where the invoker's registers are, the callee has none.
    pub(crate) fn new_float_user(&self, m: &mut Machine, frame: u64) {
        m.set(frame + PARTIAL_FRAME, m.get(m.live()));
        m.set(m.live(), 0);
    }

    /// The callee's registers are nobody's any more, the invoker's are where the call's frame says.
    pub(crate) fn drop_live_floats(&self, m: &mut Machine, frame: u64) {
        if m.get(m.live()) != 0 {
            let owner = m.owner_place();
            if m.get(owner) == m.thread {
                m.set(owner, 0);
            }
            m.float_on = false;
        }
        m.set(m.live(), m.get(frame + PARTIAL_FRAME));
    }

    /// The return goes past a floating-point frame; registers that are there and nowhere else move to the record.
    pub(crate) fn drop_floats(&self, m: &mut Machine) {
        let words = m.frame() + FRAME_HEADER;
        if m.get(m.live()) == words {
            m.copy_floats(words, m.own_floats());
            m.set(m.live(), m.own_floats());
        }
        m.set(
            m.thread + field!(Thread.invocation),
            m.frame() + FLOATING_FRAME,
        );
        self.return_from_portal(m);
    }

    /// The first use of a floating-point register, or an exception like others.
    pub(crate) fn illegal(&self, m: &mut Machine) {
        if m.scause != ILLEGAL {
            return m.fail(Errno::NoSys);
        }
        if m.float_on {
            return self.fault(m, &self.portal(self.system.fault));
        }
        for word in 0..2 {
            m.forget(m.thread + field!(Thread.float_scratch) + 8 * word);
        }
        let place = m.owner_place();
        let owner = m.get(place);
        if owner != 0 {
            m.save_floats(owner + field!(Thread.fp));
        }
        m.set(place, m.thread);
        match m.get(m.live()) {
            0 => {
                m.f = [0; 32];
                m.fcsr = 0;
            }
            words => m.load_floats(words),
        }
        m.set(m.live(), m.own_floats());
        m.float_on = true;
        // The instruction is made again, with every register as it was.
        m.x[5] = m.get(m.thread + field!(Thread.scratch));
        m.x[6] = m.get(m.thread + field!(Thread.scratch) + 8);
        m.temporaries = true;
    }
}
